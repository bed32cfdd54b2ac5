import table from './classification.json' with { type: 'json' }
import type { Classification, Rule } from './rule.ts'

/** Returns the rules of all sections of `classification.json`. The build replaces this file: bundles contain the text of `shrinkRules`. */
export const getRules = (): readonly Rule[] => (table as Classification).sections.flatMap(({ rules }) => rules)
