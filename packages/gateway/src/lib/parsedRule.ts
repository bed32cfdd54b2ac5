/** A parsed entry of an allow list: the rule, or the problem and its fix, without the entry itself. */
export type ParsedRule<Rule> = { readonly rule: Rule } | { readonly fix: string }
