/**
 * Milliseconds of the processor that some work takes on this thread. A clock would count what else the machine does meanwhile.
 * @param work - What is measured, to its end.
 */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
