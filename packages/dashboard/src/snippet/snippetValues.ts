import type { SnippetValue, SnippetValues } from '@keyrail/snippets'

/** The texts that were typed for an example, by name. */
export type TypedValues = Partial<Readonly<Record<SnippetValue, string>>>

/** The fields for the values at the top of an example. */
export const valueFields: Readonly<
  Record<SnippetValue, { readonly label: string; readonly placeholder: string; readonly hint: string }>
> = {
  account: { label: 'Account', placeholder: '0x…', hint: 'The account to read the balance of.' },
  block: { label: 'Block', placeholder: '0', hint: 'The number of a block.' },
  contract: { label: 'Contract', placeholder: '0x…', hint: 'The address of an ERC-20 token.' },
}

/** Parses the texts. Invalid and empty ones get the example's default. */
export function readValues(
  names: readonly SnippetValue[],
  typed: TypedValues,
): { readonly values: SnippetValues; readonly fixes: Partial<Record<SnippetValue, string>> } {
  const values: { -readonly [Name in keyof SnippetValues]: SnippetValues[Name] } = {}
  const fixes: Partial<Record<SnippetValue, string>> = {}
  for (const name of names) {
    const text = typed[name]?.trim() ?? ''
    if (text === '') continue
    if (name === 'block') {
      if (/^\d{1,15}$/.test(text)) values.block = Number(text)
      else fixes.block = 'Must be a whole number, 0 or more.'
    } else if (/^0x[0-9a-fA-F]{40}$/.test(text)) values[name] = text
    else fixes[name] = 'Must be 0x and 40 hexadecimal digits.'
  }
  return { values, fixes }
}
