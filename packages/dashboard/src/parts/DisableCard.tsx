import { useDialogs } from './dialogs.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Card } from './Card.tsx'
import { ConfirmedButton } from './ConfirmedButton.tsx'
import { Problem } from './Note.tsx'

/** Disables or enables an account. */
export function DisableCard<Changed extends { readonly state: 'active' | 'disabled' }>(props: {
  readonly name: string
  readonly state: 'active' | 'disabled'
  /** What the change does. */
  readonly lead: string
  readonly send: (password: string | undefined) => Promise<Changed>
  readonly done: (changed: Changed) => unknown
}) {
  const { say } = useDialogs()
  const { send } = props
  const done = (changed: Changed): unknown => {
    say(changed.state === 'active' ? 'Account enabled' : 'Account disabled')
    return props.done(changed)
  }
  const enabling = useSubmit({ send, done })
  const isActive = props.state === 'active'
  return (
    <Card title={isActive ? 'Disable' : 'Enable'} lead={props.lead}>
      <Problem text={enabling.problem} />
      <div className="row end">
        {isActive ? (
          <ConfirmedButton
            kind="danger"
            title={`Disable ${props.name}?`}
            lead="All calls with the account’s keys are rejected at once."
            action="Disable"
            send={send}
            done={done}
          >
            Disable
          </ConfirmedButton>
        ) : (
          <Button busy={enabling.isPending} onClick={() => enabling.submit()}>
            Enable
          </Button>
        )}
      </div>
    </Card>
  )
}
