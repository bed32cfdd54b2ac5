/** An entry of an allow list as it was read: the rule, or what is wrong with it and how to mend it. Never repeats the entry. */
export type Reading<Rule> = { readonly rule: Rule } | { readonly mend: string }
