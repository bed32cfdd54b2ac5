/**
 * Measures the CPU time that a function takes on this thread, in milliseconds. Unlike a clock, it does not count what other programs do.
 * @param work - The function. It runs once, synchronously.
 */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
