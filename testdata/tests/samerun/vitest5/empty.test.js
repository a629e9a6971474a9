// no test here
