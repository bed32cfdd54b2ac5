import type { KeyTrafficView } from '@keyrail/gateway'
import { useState } from 'react'
import { ActivityLine } from '../charts/ActivityLine.tsx'
import type { Scope } from '../control/useMay.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { ConfirmDialog } from './ConfirmDialog.tsx'
import { useDialogs } from './dialogs.ts'
import { Needs } from './Needs.tsx'
import { Note } from './Note.tsx'
import { isUnused } from './isUnused.ts'
import { lastUsedText, momentText } from './times.ts'

/** The old key of a rotation during its grace period: its traffic beside that of the new key, and a button that ends it. */
export function OldKey(props: {
  /** The end of the new key. */
  readonly ending: string
  readonly oldUntil: string
  readonly rotatedAt: string | null
  /** `undefined` while it is loading. */
  readonly traffic: KeyTrafficView | undefined
  readonly end: () => Promise<unknown>
  /** What the user's role must allow to end it. */
  readonly needs: Scope
}) {
  const { traffic } = props
  const { say } = useDialogs()
  const [isConfirming, setConfirming] = useState(false)
  const ending = useSubmit({
    send: props.end,
    done: () => {
      setConfirming(false)
      say('Old key deactivated')
    },
  })
  const lastUsedAt = traffic?.old?.lastUsedAt
  const isSafe = isUnused({ lastUsedAt, rotatedAt: props.rotatedAt, now: Date.now() })
  return (
    <div className="stack">
      <Note
        kind={isSafe ? 'good' : 'warn'}
        action={
          <Needs scope={props.needs}>
            <Button
              size="little"
              busy={ending.isPending}
              onClick={() => {
                if (isSafe) ending.submit()
                else setConfirming(true)
              }}
            >
              Deactivate now
            </Button>
          </Needs>
        }
      >
        The old key works until {momentText(props.oldUntil)}.{' '}
        {isSafe
          ? 'It was unused for 2 hours. You can deactivate it now, unless a program runs less often, such as every night.'
          : typeof lastUsedAt === 'string' && `It was last used at ${momentText(lastUsedAt)}.`}
      </Note>
      {!isConfirming && ending.problem !== undefined && <Note kind="bad">{ending.problem}</Note>}
      {traffic?.old && (
        <div className="pair">
          {[
            { title: 'Old key', one: traffic.old },
            { title: `New key, …${props.ending}`, one: traffic.current },
          ].map(({ title, one }) => (
            <div key={title} className="stack tight">
              <h3>{title}</h3>
              <ActivityLine activity={one} />
              <p className="hint">{lastUsedText(one.lastUsedAt)}</p>
            </div>
          ))}
        </div>
      )}
      {isConfirming && (
        <ConfirmDialog
          of={ending}
          title="Deactivate the old key?"
          lead={`${
            typeof lastUsedAt === 'string' ? `It was last used at ${momentText(lastUsedAt)}. ` : ''
          }Programs that use it stop working at once.`}
          action="Deactivate old key"
          onClose={() => setConfirming(false)}
        />
      )}
    </div>
  )
}
