/** The panels whose code is loaded when the first of them is opened: one file compresses better than four. */
export { Inside } from "./inside";
export { Learn } from "./learn";
export { MatchPanel } from "./match";
export { PeoplePanel } from "./peoplepanel";
export { Why } from "./why";
