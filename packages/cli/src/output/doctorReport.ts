import { checkNames } from '../doctor/finding.ts'
import type { Finding, Level } from '../doctor/finding.ts'
import type { Style } from './style.ts'

const widest = Math.max(...checkNames.map((name) => name.length))

const levelStyle = (level: Level, style: Style): ((text: string) => string) =>
  level === 'ok' ? style.good : level === 'warn' ? style.strong : style.bad

/** A finding, and below it what to do about it. */
export function formatFinding({ check, level, text, fix }: Finding, style: Style): string[] {
  const line = `${levelStyle(level, style)(level.padEnd(4))}  ${check.padEnd(widest)}  ${text}`
  return fix === undefined ? [line] : [line, `${' '.repeat(4 + 2 + widest + 2)}${style.faint(`fix: ${fix}`)}`]
}

/** How many there are of each. */
export function formatSummary(findings: readonly Finding[], style: Style): string {
  const of = (level: Level): number => findings.filter((finding) => finding.level === level).length
  const [fails, warns] = [of('fail'), of('warn')]
  const told = [
    `${of('ok')} passed`,
    ...(warns === 0 ? [] : [`${warns} to look at`]),
    ...(fails === 0 ? [] : [`${fails} to fix`]),
  ].join(', ')
  return fails > 0 ? style.bad(told) : told
}
