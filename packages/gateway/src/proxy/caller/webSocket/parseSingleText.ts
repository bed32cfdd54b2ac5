/**
 * Parses params that are a list of one text.
 * @param params - Source text, which is known to be JSON.
 */
export const parseSingleText = (params: string | undefined): string | undefined => {
  const parsed: unknown = params === undefined ? undefined : JSON.parse(params)
  const [text] = Array.isArray(parsed) ? (parsed as readonly unknown[]) : []
  return typeof text === 'string' ? text : undefined
}
