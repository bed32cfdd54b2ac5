/** Waits for a value. @returns `undefined` if it takes longer, in milliseconds. */
export const withDeadline = async <Value>(value: Promise<Value>, ms: number): Promise<Value | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  const first = await Promise.race([value, late])
  clearTimeout(timer)
  return first
}
