// Content-Security-Policy of the page: nothing from other hosts, no inline scripts or styles.
// Directives by name; the single file adds the hashes of its parts.
export const POLICY = {
  "default-src": "'none'",
  "script-src": "'self' 'wasm-unsafe-eval'",
  "worker-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "connect-src": "'self'",
  "manifest-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
};

/** The policy as a `<meta>` element. */
export const policyMeta = (policy) =>
  `<meta http-equiv="Content-Security-Policy" content="${Object.entries(policy).map((directive) => directive.join(" ")).join("; ")}" />`;
