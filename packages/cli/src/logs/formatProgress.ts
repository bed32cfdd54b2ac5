import type { ExportProgress, ExportRate } from './exportRate.ts'

const grouped = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Formats seconds as `0:07`, `12:34` or `1:02:03`. */
function formatTime(seconds: number): string {
  const whole = Math.ceil(seconds)
  const two = (part: number): string => String(part).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

/**
 * Formats the progress line of an export. On a narrow terminal it omits the bar, then cuts the text.
 *
 * @param progress - The progress.
 * @param rate - The current rate.
 * @param columns - The width of the terminal.
 */
export function formatProgress(
  { blocksDone, blocksTotal, logs }: ExportProgress,
  rate: ExportRate,
  columns: number,
): string {
  const ratio = blocksTotal === 0 ? 1 : blocksDone / blocksTotal
  const percent = `${String(Math.floor(ratio * 100)).padStart(3)} %`
  const parts = [
    `${grouped(blocksDone)} of ${grouped(blocksTotal)} blocks`,
    `${grouped(logs)} logs`,
    `${grouped(rate.logsPerSecond)}/s`,
    rate.secondsLeft === undefined ? '-:-- left' : `${formatTime(rate.secondsLeft)} left`,
  ]
  const text = parts.join(' · ')
  // Some terminals wrap a line of exactly their width.
  const room = Math.min(columns - 1 - percent.length - text.length - 2, 40)
  if (room < 5) return `${percent} ${text}`.slice(0, Math.max(columns - 1, 0))
  const filled = Math.floor(ratio * room)
  return `${percent} ${'━'.repeat(filled)}${'─'.repeat(room - filled)} ${text}`
}
