export function compare(a, b) {
  const unused = "<é & \"quoted\">"
  if (a == b) {
    console.log(undefinedName);
  }
  debugger;
  // eslint-disable-next-line no-undef -- provided by the page
  return page.title;
}

// eslint-disable-next-line no-alert
export const fine = 1;
