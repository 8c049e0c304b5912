package git_test

func syncAndDie() {}
