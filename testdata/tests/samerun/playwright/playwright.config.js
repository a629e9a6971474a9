module.exports = {
  retries: 1,
  workers: 1,
  projects: [{ name: 'desktop' }, { name: 'mobile', grep: /adds/ }],
  reporter: [['json', { outputFile: 'playwright.json' }], ['junit', { outputFile: 'playwright.junit.xml' }]],
};
