import type { Submit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { Problem } from './Note.tsx'

/** Asks for a confirmation, and shows in the same place why the action failed. */
export function ConfirmDialog(props: {
  readonly of: Submit
  readonly title: string
  /** The consequences. */
  readonly lead: string
  /** On the button. */
  readonly action: string
  readonly onClose: () => void
}) {
  const { submit, isPending, problem } = props.of
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p className="soft">{props.lead}</p>
      <Problem text={problem} />
      <div className="row end">
        <Button onClick={props.onClose}>Cancel</Button>
        <Button kind="dangerPrimary" busy={isPending} onClick={() => submit()}>
          {props.action}
        </Button>
      </div>
    </Dialog>
  )
}
