/** Waits for work until it is done. @returns `true`. */
export const whenDone = async (work: Promise<unknown>): Promise<boolean> => {
  await work
  return true
}

/**
 * Makes what waits for work, of all that it is given together no longer than so many milliseconds.
 * @returns Whether it was done in time.
 */
export const withinMs = (ms: number): ((work: Promise<unknown>) => Promise<boolean>) => {
  const end = performance.now() + ms
  return async (work) => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), Math.max(0, end - performance.now()))
    })
    try {
      return await Promise.race([whenDone(work), late])
    } finally {
      clearTimeout(timer)
    }
  }
}
