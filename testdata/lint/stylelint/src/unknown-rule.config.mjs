export default { rules: { "no-such-rule": true } };
