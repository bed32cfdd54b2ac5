import { useEffect, useRef, useState } from 'react'
import type { KeySubject } from '../control/queries.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from '../parts/Button.tsx'
import { Icon } from '../parts/Icon.tsx'
import { Problem } from '../parts/Note.tsx'
import { msText } from '../parts/times.ts'
import { TextField } from '../parts/TextField.tsx'
import type { KeyHolder } from '../snippet/useKeyHolder.ts'
import type { RequestStep } from './exampleCalls.ts'
import { RunResult } from './RunResult.tsx'
import { runRequests } from './runRequests.ts'
import type { RequestResult } from './sendRequest.ts'

/** Makes calls from the page, and shows the response. */
export function RunPanel(props: {
  readonly holder: KeyHolder
  readonly subject: KeySubject
  /** Builds the full URL. */
  readonly toUrl: (apiKey: string) => string
  readonly steps: readonly RequestStep[]
  /** Identifies the calls: the result of others is not shown. */
  readonly stepsId: string
  /** Whether the app requires a JWT. */
  readonly requireJwt: boolean
}) {
  const { holder, subject, toUrl, steps, stepsId, requireJwt } = props
  const [pasted, setPasted] = useState('')
  const [token, setToken] = useState('')
  const [run, setRun] = useState<{ readonly id: string; readonly results: readonly RequestResult[] }>()
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])
  const mustPaste = !holder.canReveal && holder.stored === undefined

  const running = useSubmit({
    check: () => ({
      apiKey: mustPaste && !holder.accepts(pasted.trim()) ? `Paste the whole key: ${holder.masked}` : undefined,
      token: requireJwt && token.trim() === '' ? 'Paste a token' : undefined,
    }),
    send: async (password) => {
      const apiKey = mustPaste ? holder.store(pasted.trim()) : await holder.reveal(password)
      controller.current = new AbortController()
      const { signal } = controller.current
      return runRequests(toUrl(apiKey), steps, { signal, ...(requireJwt && { token: token.trim() }) })
    },
    done: (results) => {
      setPasted('')
      setRun({ id: stepsId, results })
    },
  })
  const results = run?.id === stepsId ? run.results : undefined
  const last = results?.at(-1)
  return (
    <form className="stack" onSubmit={running.submit} noValidate>
      {mustPaste && (
        <TextField
          label="Key"
          name="apiKey"
          type="password"
          mono
          value={pasted}
          onChange={setPasted}
          placeholder={holder.masked}
          fix={running.getFix('apiKey')}
          hint={`${holder.hint} The page forgets it when you leave or reload the site.`}
        />
      )}
      {requireJwt && (
        <TextField
          label="Token"
          name="token"
          mono
          value={token}
          onChange={setToken}
          placeholder="eyJ…"
          fix={running.getFix('token')}
          hint="A JWT that one of the app’s JWT keys has signed. The page does not store it."
        />
      )}
      <Problem text={running.problem} />
      <div className="row">
        <Button type="submit" busy={running.isPending}>
          <Icon name="play" />
          {running.isPending ? 'Running…' : 'Run'}
        </Button>
        <span className="small soft" role="status">
          {running.isPending
            ? 'Waiting for the response…'
            : last === undefined
              ? 'Makes the call from this page. It counts as a request.'
              : last.response === undefined
                ? last.problem
                : `Status ${last.response.status}${last.response.error === undefined ? '' : ', an error'}, after ${msText(last.latencyMs)}.`}
        </span>
      </div>
      {results !== undefined && <RunResult results={results} subject={subject} />}
    </form>
  )
}
