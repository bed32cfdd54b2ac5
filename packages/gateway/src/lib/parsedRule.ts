/** An entry of an allow list as it was read: the rule, or what is wrong with it and how to fix it. Never repeats the entry. */
export type ParsedRule<Rule> = { readonly rule: Rule } | { readonly fix: string }
