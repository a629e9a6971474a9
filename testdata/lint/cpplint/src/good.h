#ifndef GOOD_H_
#define GOOD_H_
#endif  // GOOD_H_
