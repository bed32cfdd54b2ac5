/** A parsed entry of an allow list: the rule, or what is wrong and how to fix it. `fix` never contains the entry. */
export type ParsedRule<Rule> = { readonly rule: Rule } | { readonly fix: string }
