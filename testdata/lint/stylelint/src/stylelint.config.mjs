export default {
  extends: "stylelint-config-standard",
  rules: { "block-no-empty": [true, { severity: "warning" }] },
  reportDescriptionlessDisables: true,
};
