import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deploymentQuery } from '../control/queries.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { ConfirmDialog } from '../parts/ConfirmDialog.tsx'
import { useDialogs } from '../parts/dialogs.ts'
import { Problem } from '../parts/Note.tsx'

/** Switches the recording of params and responses. Renders nothing if the service records no requests. */
export function RecordDetails(props: {
  readonly isOn: boolean
  readonly change: (recordDetails: boolean) => Promise<unknown>
}) {
  const { isOn, change } = props
  const { say } = useDialogs()
  const { data: deployment } = useQuery(deploymentQuery)
  const [isConfirming, setConfirming] = useState(false)
  const changing = useSubmit({
    send: () => change(!isOn),
    done: () => {
      setConfirming(false)
      say(isOn ? 'Params and responses are no longer recorded' : 'Params and responses are recorded now')
    },
  })
  if (deployment?.requestLog === false) return null
  return (
    <Card
      title="Params and responses"
      help="dashboard#requests"
      lead="The log can record the first 1,024 characters of the params and of the response, with secrets masked, for 24 hours."
      aside={
        <span className={isOn ? 'badge warn' : 'badge'}>
          <span className="dot" aria-hidden="true" />
          {isOn ? 'Recorded' : 'Not recorded'}
        </span>
      }
    >
      {!isConfirming && <Problem text={changing.problem} />}
      <div className="row end">
        <Button busy={changing.isPending} onClick={() => (isOn ? changing.submit() : setConfirming(true))}>
          {isOn ? 'Stop recording' : 'Record params and responses'}
        </Button>
      </div>
      {isConfirming && (
        <ConfirmDialog
          of={changing}
          title="Record params and responses?"
          lead="The service then stores parts of what your callers send and receive: accounts, contract calls, signed transactions. You and the operators of the service can read them for 24 hours, also after you stop recording. Turn it on while you debug a problem."
          action="Record"
          onClose={() => {
            changing.clear()
            setConfirming(false)
          }}
        />
      )}
    </Card>
  )
}
