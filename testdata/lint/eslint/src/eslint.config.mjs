import js from "@eslint/js";

export default [
  js.configs.recommended,
  { rules: { "no-console": "warn", eqeqeq: "warn", semi: "error", "no-debugger": "error" } },
  { linterOptions: { reportUnusedDisableDirectives: "warn" } },
];
