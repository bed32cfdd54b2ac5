import { causes } from '../../packages/gateway/src/errors/causes.ts'
import type { CauseOf } from '../../packages/gateway/src/errors/causes.ts'

const titles: Readonly<Record<CauseOf, string>> = {
  postgres: 'PostgreSQL',
  redis: 'Redis',
  sqlite: 'SQLite',
  file: 'Other files',
}

/** Writes the page of all codes that the service's log has with a cause. */
export function logCodesPage(): string {
  const about = [
    "Each `code` in the service's log that has a known cause, with what to do. The log has the same sentence as `cause`. ",
    'Codes of PostgreSQL are SQLSTATEs, those of SQLite are result codes, and those of Redis are the first word of its error. ',
    'Names such as `ECONNREFUSED` are codes of Node. `other` is an error without a known code. ',
    '[The events of the log](../service/monitoring.md#log) say what failed.',
  ].join('')
  const sections = (Object.keys(titles) as CauseOf[]).map((of) => {
    const rows = Object.entries(causes[of]).map(([code, text]) => {
      const [cause = '', fix = ''] = text.split(/: (.*)/s)
      return `| \`${code}\` | ${cause} | ${fix} |`
    })
    return [`## ${titles[of]}`, ['| code | cause | fix |', '| --- | --- | --- |', ...rows].join('\n')].join('\n\n')
  })
  return ['# Codes in the log', about, ...sections, ''].join('\n\n')
}
