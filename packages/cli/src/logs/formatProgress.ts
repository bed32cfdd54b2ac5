import type { ExportProgress, ExportRate } from './exportRate.ts'

const grouped = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Seconds as a clock shows them: `0:07`, `12:34`, `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds)
  const two = (part: number): string => String(part).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

/**
 * The line that shows how far an export has come. What does not fit is left out, the bar first.
 *
 * @param state - How far it has come.
 * @param pace - How fast it goes.
 * @param columns - How wide the terminal is.
 */
export function formatProgress(
  { blocksDone, blocksTotal, logs }: ExportProgress,
  pace: ExportRate,
  columns: number,
): string {
  const part = blocksTotal === 0 ? 1 : blocksDone / blocksTotal
  const percent = `${String(Math.floor(part * 100)).padStart(3)} %`
  const words = [
    `${grouped(blocksDone)} of ${grouped(blocksTotal)} blocks`,
    `${grouped(logs)} logs`,
    `${grouped(pace.logsPerSecond)}/s`,
    pace.secondsLeft === undefined ? '-:-- left' : `${clock(pace.secondsLeft)} left`,
  ]
  const text = words.join(' · ')
  // A line as wide as the terminal makes some of them begin another.
  const room = Math.min(columns - 1 - percent.length - text.length - 2, 40)
  if (room < 5) return `${percent} ${text}`.slice(0, Math.max(columns - 1, 0))
  const filled = Math.floor(part * room)
  return `${percent} ${'━'.repeat(filled)}${'─'.repeat(room - filled)} ${text}`
}
