import { checkNames } from '../doctor/finding.ts'
import type { Finding, Level } from '../doctor/finding.ts'
import type { Style } from './style.ts'

const widest = Math.max(...checkNames.map((name) => name.length))

const levelStyle = (level: Level, style: Style): ((text: string) => string) =>
  level === 'ok' ? style.good : level === 'warn' ? style.strong : style.bad

/** Formats a finding, with its fix on a second line. */
export function formatFinding({ check, level, text, fix }: Finding, style: Style): string[] {
  const line = `${levelStyle(level, style)(level.padEnd(4))}  ${check.padEnd(widest)}  ${text}`
  return fix === undefined ? [line] : [line, `${' '.repeat(4 + 2 + widest + 2)}${style.faint(`fix: ${fix}`)}`]
}

/** Formats the number of findings of each level. */
export function formatSummary(findings: readonly Finding[], style: Style): string {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length
  const [fails, warns] = [count('fail'), count('warn')]
  const text = [
    `${count('ok')} passed`,
    ...(warns === 0 ? [] : [`${warns} ${warns === 1 ? 'warning' : 'warnings'}`]),
    ...(fails === 0 ? [] : [`${fails} failed`]),
  ].join(', ')
  return fails > 0 ? style.bad(text) : text
}
