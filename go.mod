module signalbox

go 1.26
