import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** What is asked again and again. */
export interface Load {
  /** Each request takes the next one: all with the first body, then all with the second. */
  readonly paths: readonly string[]
  readonly bodies: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** @default 64 */
  readonly connections?: number
  /** How long each connection waits before its next request, in milliseconds. @default 0 */
  readonly pauseMs?: number
}

/** What a slice of load saw. */
export interface Served {
  readonly requests: number
  /** Answers of another status than 2xx. */
  readonly rejected: number
  /** Requests that got no answer. */
  readonly lost: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const quoted = (value: string): string => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const list = (values: readonly string[]): string => `{${values.map(quoted).join(',')}}`

/** A program for wrk. Requests are written beforehand, so that making them costs nothing in the slice. */
const program = ({ paths, bodies, headers = {}, pauseMs = 0 }: Load): string => `
local paths, bodies = ${list(paths)}, ${list(bodies)}
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`)
  .join('\n')}
local made, at = {}, 0
function init()
  for _, body in ipairs(bodies) do
    for _, path in ipairs(paths) do made[#made + 1] = wrk.format(nil, path, nil, body) end
  end
end
function request()
  at = at % #made + 1
  return made[at]
end
${pauseMs === 0 ? '' : `function delay() return math.random(${2 * pauseMs}) end`}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\\n{"requests":%d,"rejected":%d,"lost":%d,"p50Ms":%f,"p99Ms":%f}\\n', summary.requests, e.status,
    e.connect + e.read + e.write + e.timeout, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
`

/**
 * Puts load on a server for a while, by wrk with one thread.
 *
 * @throws where wrk is not there: it comes with Debian's package of that name.
 */
export async function putLoad(url: string, load: Load, seconds: number): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-load-'))
  try {
    const file = join(folder, 'load.lua')
    writeFileSync(file, program(load))
    const connections = String(load.connections ?? 64)
    const child = spawn(
      'wrk',
      ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '10s', '-s', file, url],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const said = text(child.stdout)
    const [code] = (await once(child, 'exit')) as [number | null]
    const line = (await said).trim().split('\n').at(-1) ?? ''
    if (code !== 0) throw new Error(`wrk ended with ${code}`)
    return JSON.parse(line) as Served
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('wrk is missing: apt-get install wrk', { cause: error })
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
