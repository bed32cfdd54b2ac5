const objectTag = '[object Object]'

/** Removes undefined params at the end. */
const trim = (params: readonly unknown[]): readonly unknown[] => {
  let end = params.length
  while (end > 0 && params[end - 1] === undefined) end--
  return end < params.length ? params.slice(0, end) : params
}

/**
 * Writes the params of a call as JSON text.
 *
 * @param params - An array (by position) or an object (by name).
 * @returns The text: it starts with `[` or with `{`. Empty if the params are neither, or cannot be written: a bigint, a circle.
 * @see JSON-RPC 2.0 section 4.2
 */
export function writeParams(params: unknown): string {
  const byPosition = Array.isArray(params)
  // A Map, a Set or a promise would become {}.
  if (!byPosition && Object.prototype.toString.call(params) !== objectTag) return ''
  let text: string | undefined
  try {
    text = JSON.stringify(byPosition ? trim(params) : params)
  } catch {
    return ''
  }
  // toJSON may have returned anything.
  return text?.startsWith(byPosition ? '[' : '{') ? text : ''
}

/** Whether params that {@link writeParams} wrote are by name. Rules that read a param by its position cannot read these. */
export function areByName(params: string): boolean {
  return params.startsWith('{')
}
