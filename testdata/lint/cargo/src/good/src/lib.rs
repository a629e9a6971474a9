pub fn good() {}
