import { useRef, useState } from 'react'
import type { SyntheticEvent } from 'react'
import { flushSync } from 'react-dom'
import { useDialogs } from '../parts/dialogs.ts'
import { isControlFailure } from './controlFailure.ts'
import { sentence } from './sentence.ts'
import { toProblem } from './toProblem.ts'

/** A form, or a button that changes something. */
export interface Submit {
  /** Submits, unless a submission is in flight. Takes the form's event. */
  readonly submit: (event?: SyntheticEvent) => void
  readonly isPending: boolean
  /** Why it failed; `undefined` if each problem is shown at its field. */
  readonly problem: string | undefined
  /** The problem of a field, as a sentence. */
  readonly getFix: (field: string) => string | undefined
  /** Whether the last try failed with this error code. */
  readonly hasCode: (code: string) => boolean
  /** Clears the problems. */
  readonly clear: () => void
}

/** What a form does. */
export interface SubmitOptions<T> {
  /** Checks the input before it is sent. Returns problems by field. */
  readonly check?: () => Readonly<Record<string, string | undefined>>
  /** Sends the request. Takes the password if the user was asked for it. It is sent again after the user has proved a second factor. */
  readonly send: (password: string | undefined) => Promise<T>
  /** Handles the response. */
  readonly done?: (response: T) => unknown
  /** The fields that show their own problems. Those of others are listed above the form. */
  readonly fields?: readonly string[]
  /** The titles of those others, if their API names are unclear. */
  readonly titles?: Readonly<Record<string, string>>
}

/**
 * Submits a change: once, even if it is clicked several times, and shows each problem at its field. If the control API requires the
 * password or a second factor, asks the user for it and retries.
 */
export function useSubmit<T>({ check, send, done, fields = [], titles }: SubmitOptions<T>): Submit {
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
  const { askPassword, askFactor } = useDialogs()

  const sendConfirmed = async (): Promise<{ readonly response: T } | undefined> => {
    let password: string | undefined
    let isWrong = false
    for (;;) {
      try {
        return { response: await send(password) }
      } catch (error) {
        if (isControlFailure(error, 'second_factor_confirm_required')) {
          if (!(await askFactor())) return undefined
          continue
        }
        const isRequired = isControlFailure(error, 'confirm_required')
        const isRejected = password !== undefined && isControlFailure(error, 'wrong_password')
        if (!isRequired && !isRejected) throw error
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
      if (sent) await done?.(sent.response)
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
