int missing(void);
extern int gone;
int main(void) { return missing() + gone; }
