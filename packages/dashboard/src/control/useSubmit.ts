import { useRef, useState } from 'react'
import type { SyntheticEvent } from 'react'
import { flushSync } from 'react-dom'
import { useDialogs } from '../parts/dialogs.ts'
import { isControlFailure } from './controlFailure.ts'
import { sentence } from './sentence.ts'
import { toProblem } from './toProblem.ts'

/** A form, or a button that changes something. */
export interface Submit {
  /** Does it, unless it is being done. Takes the form's event. */
  readonly submit: (event?: SyntheticEvent) => void
  readonly isPending: boolean
  /** Why it did not work, unless each reason stands at its field. */
  readonly problem: string | undefined
  /** What is wrong with a field, ready to be read. */
  readonly getFix: (field: string) => string | undefined
  /** Whether the last try failed with this error code. */
  readonly hasCode: (code: string) => boolean
  /** Forgets what went wrong. */
  readonly clear: () => void
}

/** How something is done. */
export interface SubmitOptions<Answer> {
  /** What is wrong before anything is sent, by field. */
  readonly check?: () => Readonly<Record<string, string | undefined>>
  /** Sends it. RouteInput a password where one was asked for. */
  readonly send: (password: string | undefined) => Promise<Answer>
  /** Goes on with what came back. */
  readonly done?: (answer: Answer) => unknown
  /** The fields that show their own faults; those of others are told above. */
  readonly fields?: readonly string[]
  /** What the page calls those others, where their own names would not be understood. */
  readonly titles?: Readonly<Record<string, string>>
}

/**
 * Does something that changes something: once, however often it is clicked, with each fault at its field. Where the control API wants the
 * password, asks for it and goes on.
 */
export function useSubmit<Answer>({ check, send, done, fields = [], titles }: SubmitOptions<Answer>): Submit {
  const [state, setState] = useState<{
    problem?: string
    code?: string
    fixes: Readonly<Record<string, string | undefined>>
  }>({
    fixes: {},
  })
  const [isPending, setPending] = useState(false)
  // The state is as old as the last render; two clicks can come before the next one.
  const busy = useRef(false)
  const { askPassword } = useDialogs()

  const sendConfirmed = async (): Promise<{ readonly answer: Answer } | undefined> => {
    let password: string | undefined
    let isWrong = false
    for (;;) {
      try {
        return { answer: await send(password) }
      } catch (error) {
        const isAskedFor = isControlFailure(error, 'confirm_required')
        const isRejected = password !== undefined && isControlFailure(error, 'wrong_password')
        if (!isAskedFor && !isRejected) throw error
        isWrong = password !== undefined
        password = await askPassword(isWrong)
        if (password === undefined) return undefined
      }
    }
  }

  /** Shows what is wrong, and focuses the first field with a problem. Rendered at once, so that the field is marked. */
  const showState = (shown: typeof state, form: HTMLFormElement | undefined): void => {
    flushSync(() => setState(shown))
    form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }

  const run = async (form: HTMLFormElement | undefined): Promise<void> => {
    const faults = Object.fromEntries(Object.entries(check?.() ?? {}).filter(([, fix]) => fix !== undefined))
    if (Object.keys(faults).length > 0) {
      showState({ fixes: faults }, form)
      return
    }
    busy.current = true
    setPending(true)
    setState({ fixes: {} })
    try {
      const sent = await sendConfirmed()
      if (sent) await done?.(sent.answer)
    } catch (error) {
      if (!isControlFailure(error)) throw error
      const fixes = Object.fromEntries(error.fields.map(({ field, fix }) => [field, fix]))
      const problem = toProblem(error, fields, titles)
      showState({ fixes, code: error.code, ...(problem !== undefined && { problem }) }, form)
    } finally {
      busy.current = false
      setPending(false)
    }
  }

  return {
    submit: (event) => {
      event?.preventDefault()
      if (busy.current) return
      const target = event?.currentTarget
      void run(target instanceof HTMLFormElement ? target : undefined)
    },
    isPending,
    problem: state.problem,
    getFix: (field) => {
      const fix = state.fixes[field]
      return fix === undefined ? undefined : sentence(fix)
    },
    hasCode: (code) => state.code === code,
    clear: () => setState({ fixes: {} }),
  }
}
