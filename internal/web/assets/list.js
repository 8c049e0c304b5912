// The slider of a run's history shows the run as soon as it is moved. The page reloads in place, and the focus stays on the slider.
const at = document.querySelector("#at");
if (at) {
  at.form.querySelector("button").hidden = true;
  at.addEventListener("change", () => { sessionStorage.setItem("signalbox:slider", "1"); at.form.requestSubmit(); });
  if (sessionStorage.getItem("signalbox:slider")) { sessionStorage.removeItem("signalbox:slider"); at.focus(); }
}
