/** Words of questions that say nothing about what is asked: "How do I restart the service?". They would match headings such as "When to use it". */
const emptyWords = new Set(
  (
    'a an and any are as at be because but by can cannot could did do does for from had has have how i if in into is it its ' +
    'may me must my of on or our should so some than that the their them then there these they this those to was we were what ' +
    'when where which who why will with without would you your'
  ).split(' '),
)

/** Guides come before the API references, examples and READMEs that match as well. */
const getPageWeight = (id: string): number =>
  /^[/]?(api|examples|packages|reference[/]control-api)\b/.test(id) ? 0.5 : 1

/** What is added to the options of the search. */
export interface SearchRules {
  /** Returns the weight of a section by its id, which starts with the path of its page. */
  readonly boostDocument: (id: string) => number
  /** Returns a word of the query as it is searched for; null if it is left out. */
  readonly processTerm: (word: string) => string | null
}

/**
 * Adds what JSON cannot contain to the options of MiniSearch. The search on the site and `keyrail mcp` both use it.
 *
 * @param options - The options in `search.json`.
 */
export const toSearchOptions = <T extends object>(options: T): T & SearchRules => ({
  ...options,
  boostDocument: getPageWeight,
  processTerm: (word) => {
    const term = word.toLowerCase()
    return emptyWords.has(term) ? null : term
  },
})
