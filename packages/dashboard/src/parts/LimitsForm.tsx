import type { OwnLimits } from '@keyrail/gateway'
import { useDraft } from '../control/useDraft.ts'
import type { Scope } from '../control/useMay.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { useDialogs } from './dialogs.ts'
import { SaveForm } from './SaveForm.tsx'
import { TextField } from './TextField.tsx'

/** The limits that pages set, in the order to show them in. */
export const limitNames = ['perDay', 'perMonth', 'perSecond'] as const

/** Their titles. */
export const limitTitles = {
  perDay: 'Requests a day',
  perMonth: 'Requests a month',
  perSecond: 'Requests a second',
} as const

/** Sets limits below the service's. An empty field means the service's limit. */
export function LimitsForm(props: {
  /** The record's id. */
  readonly id: string
  readonly own: OwnLimits | null
  /** As of `SaveForm`. */
  readonly needs?: Scope
  /** @default limitTitles */
  readonly titles?: Readonly<Record<(typeof limitNames)[number], string>>
  /** Saves the limits; `null` for those that are not set. */
  readonly save: (limits: OwnLimits | null) => Promise<unknown>
}) {
  const { titles = limitTitles, save } = props
  const own = props.own ?? {}
  const { say } = useDialogs()
  const draft = useDraft(`${props.id}/limits`, {
    perDay: String(own.perDay ?? ''),
    perMonth: String(own.perMonth ?? ''),
    perSecond: String(own.perSecond ?? ''),
  })
  const { values, change, clear } = draft
  const saving = useSubmit({
    check: () =>
      Object.fromEntries(
        limitNames.map((name) => [
          name,
          /^\d*$/.test(values[name].trim()) && values[name].trim() !== '0'
            ? undefined
            : 'Must be a whole number, 1 or more',
        ]),
      ),
    send: () => {
      const limits: OwnLimits = {
        // Only the API can set it, so the form does not change it.
        ...(own.burst !== undefined && { burst: own.burst }),
        ...Object.fromEntries(
          limitNames.filter((name) => values[name].trim() !== '').map((name) => [name, Number(values[name])]),
        ),
      }
      return save(Object.keys(limits).length > 0 ? limits : null)
    },
    done: () => {
      clear()
      say('Saved')
    },
    fields: limitNames.map((name) => `limits.${name}`),
    titles: { 'limits.burst': 'The limit of calls at once' },
  })
  return (
    <SaveForm of={saving} draft={draft} needs={props.needs}>
      <div className="selects">
        {limitNames.map((name) => (
          <TextField
            key={name}
            label={titles[name]}
            name={name}
            optional
            value={values[name]}
            onChange={(value) => change({ [name]: value })}
            placeholder="Default"
            fix={saving.getFix(name) ?? saving.getFix(`limits.${name}`)}
          />
        ))}
      </div>
    </SaveForm>
  )
}
