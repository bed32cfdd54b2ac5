import { useQuery } from '@tanstack/react-query'
import type { AppView } from '@keyrail/gateway'
import { useState } from 'react'
import { keyTrafficQuery } from '../control/queries.ts'
import type { Subject } from '../control/queries.ts'
import { useDraft } from '../control/useDraft.ts'
import type { Scope } from '../control/useMay.ts'
import { useNewKey } from '../control/useNewKey.ts'
import type { NewKey } from '../control/useNewKey.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Card } from './Card.tsx'
import { Dialog } from './Dialog.tsx'
import { useDialogs } from './dialogs.ts'
import { KeyBadge } from './KeyBadge.tsx'
import { Problem } from './Note.tsx'
import { OldKey } from './OldKey.tsx'
import { SaveForm } from './SaveForm.tsx'
import { SelectField } from './SelectField.tsx'
import { TextField } from './TextField.tsx'
import { dayText, lastUsedText } from './times.ts'

type KeyFacts = Omit<AppView['key'], 'id' | 'urls'>

const days = (count: number): string => (count === 0 ? '0 days: stops now' : count === 1 ? '1 day' : `${count} days`)

/** Formats a time as the value of a date field, in the user's time zone. */
const toDay = (time: string | null): string => {
  if (time === null) return ''
  const date = new Date(time)
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`
}
/** The end of that day. */
const toEndOfDay = (day: string): string | null => (day === '' ? null : new Date(`${day}T23:59:59`).toISOString())

/** A key: its expiry and its rotation. */
export function KeyCard(props: {
  /** The key's id. */
  readonly id: string
  readonly subject: Exclude<Subject, 'account'>
  readonly facts: KeyFacts
  /** What the user's role must allow to change it. */
  readonly needs: Scope
  readonly maxGraceDays: number
  readonly setExpiry: (expiresAt: string | null) => Promise<unknown>
  readonly rotate: (graceDays: number) => Promise<NewKey>
  readonly endOld: () => Promise<unknown>
}) {
  const { facts, maxGraceDays } = props
  const { say } = useDialogs()
  const refetchInterval = facts.state === 'rotated' ? 15_000 : 60_000
  const traffic = useQuery({ ...keyTrafficQuery(props.subject), refetchInterval })
  const takeNewKey = useNewKey({ always: true })
  const draft = useDraft(`${props.id}/expiry`, { expiry: toDay(facts.expiresAt) })
  const { expiry } = draft.values
  const [isRotating, setRotating] = useState(false)
  const [grace, setGrace] = useState('1')
  const saving = useSubmit({
    check: () => ({
      expiresAt: expiry !== '' && new Date(`${expiry}T23:59:59`) < new Date() ? 'Must be in the future' : undefined,
    }),
    send: async () => {
      if (draft.isDirty) await props.setExpiry(toEndOfDay(expiry))
    },
    done: () => {
      draft.clear()
      say('Saved')
    },
    fields: ['expiresAt'],
  })
  const rotating = useSubmit({
    send: () => props.rotate(Number(grace)),
    done: async (key) => {
      setRotating(false)
      await takeNewKey(key)
      say('Key rotated')
    },
  })
  return (
    <Card
      title="Key"
      help="dashboard#rotate-a-key"
      lead={
        <>
          <code>…{facts.ending}</code>, created {dayText(facts.rotatedAt ?? facts.createdAt)}.
          {traffic.data && ` ${lastUsedText(traffic.data.current.lastUsedAt)}.`}
        </>
      }
      aside={
        // Whether the key works depends on quotas too, so this shows only problems.
        (facts.state === 'expired' || facts.expiresAt !== null) && (
          <KeyBadge state={facts.state} expiresAt={facts.expiresAt} />
        )
      }
    >
      {facts.oldUntil !== null && facts.state === 'rotated' && (
        <OldKey
          ending={facts.ending}
          oldUntil={facts.oldUntil}
          rotatedAt={facts.rotatedAt}
          traffic={traffic.data}
          needs={props.needs}
          end={props.endOld}
        />
      )}
      <SaveForm
        of={saving}
        draft={draft}
        needs={props.needs}
        more={<Button onClick={() => setRotating(true)}>Rotate key</Button>}
      >
        <TextField
          label="Expires after"
          name="expiresAt"
          type="date"
          optional
          value={expiry}
          onChange={(value) => draft.change({ expiry: value })}
          fix={saving.getFix('expiresAt')}
          hint="The last day on which the key works. Leave it empty if the key must not expire."
        />
      </SaveForm>
      {isRotating && (
        <Dialog title="Rotate key" onClose={() => setRotating(false)}>
          <form className="stack" onSubmit={rotating.submit}>
            <p className="soft">
              A new key replaces this one, and all URLs change with it. The old key keeps working for the time that you
              choose.
            </p>
            <Problem text={rotating.problem} />
            <SelectField
              label="The old key works for"
              name="graceDays"
              value={grace}
              onChange={setGrace}
              options={Array.from({ length: maxGraceDays + 1 }, (_, count) => ({
                value: String(count),
                title: days(count),
              }))}
            />
            <div className="row end">
              <Button onClick={() => setRotating(false)}>Cancel</Button>
              <Button kind="primary" type="submit" busy={rotating.isPending}>
                Rotate key
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </Card>
  )
}
