/** How well a search term matches, from the best to the worst. */
const ranks: readonly ((term: string, text: string) => boolean)[] = [
  (term, text) => term === text,
  (term, text) => term.startsWith(text),
  (term, text) => term.includes(` ${text}`) || term.includes(`-${text}`),
  (term, text) => term.includes(text),
]

const normalize = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/g, ' ')

/** A chain id in hex, as wallets and `eth_chainId` show it, is found by its decimal form. */
const toDecimal = (text: string): string => (/^0x[0-9a-f]{1,13}$/.test(text) ? String(Number(text)) : text)

/**
 * Creates a search that finds items by several terms each, ignoring letter case.
 * @param items - What to search, in the order for equal matches.
 * @param getTerms - The terms of an item: names, symbols, chain ids.
 * @returns A function from a text to the items that match it, the best matches first. If no single term contains the text, every word of it must be in
 *   some term. An empty text finds all items.
 */
export const createSearch = <Item>(
  items: readonly Item[],
  getTerms: (item: Item) => readonly string[],
): ((text: string) => readonly Item[]) => {
  const entries = items.map((item) => ({ item, terms: getTerms(item).map((term) => normalize(term)) }))
  return (given) => {
    const text = toDecimal(normalize(given))
    if (text === '') return items
    const words = text.split(' ')
    const getRank = (terms: readonly string[]): number => {
      const rank = ranks.findIndex((matches) => terms.some((term) => matches(term, text)))
      if (rank !== -1) return rank
      return words.every((word) => terms.some((term) => term.includes(word))) ? ranks.length : Number.POSITIVE_INFINITY
    }
    return entries
      .map(({ item, terms }) => ({ item, rank: getRank(terms) }))
      .filter(({ rank }) => rank !== Number.POSITIVE_INFINITY)
      .toSorted((one, other) => one.rank - other.rank)
      .map(({ item }) => item)
  }
}
