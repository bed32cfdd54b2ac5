import { useDraft } from '../control/useDraft.ts'
import type { Scope } from '../control/useMay.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Card } from './Card.tsx'
import { Choices } from './Choices.tsx'
import { useDialogs } from './dialogs.ts'
import { SaveForm } from './SaveForm.tsx'
import { SelectField } from './SelectField.tsx'

const nodeCounts = ['0', '2', '3', '4', '5', '6', '7', '8', '9', '10'] as const

/** Sets how many nodes must agree on the reads of an app or API key. */
export function ConfirmedReadsCard(props: {
  /** The app or API key. */
  readonly of: { readonly id: string; readonly confirmNodes: number; readonly confirmHeader: boolean }
  /** As of `SaveForm`. */
  readonly needs: Scope
  readonly save: (change: { readonly confirmNodes?: number; readonly confirmHeader?: boolean }) => Promise<unknown>
}) {
  const { id, confirmNodes, confirmHeader } = props.of
  const { say } = useDialogs()
  const draft = useDraft(`${id}/confirm`, { confirmNodes, confirmHeader })
  const { values } = draft
  const saving = useSubmit({
    send: () => props.save(draft.changes),
    done: () => {
      draft.clear()
      say('Saved')
    },
    fields: ['confirmNodes', 'confirmHeader'],
  })
  return (
    <Card
      title="Confirmed reads"
      help="service/confirmed-reads"
      lead="A result then counts only if several independent nodes agree on it. Calls to a network where the operator does not allow this are rejected."
    >
      <SaveForm of={saving} draft={draft} needs={props.needs}>
        <SelectField
          label="Nodes that must agree on each read"
          name="confirmNodes"
          value={String(values.confirmNodes)}
          onChange={(value) => draft.change({ confirmNodes: Number(value) })}
          options={nodeCounts.map((value) => ({
            value: value as string,
            title: value === '0' ? 'As many as the network requires' : value,
          }))}
          fix={saving.getFix('confirmNodes')}
        />
        <Choices
          legend="Single calls"
          kind="any"
          name="confirmHeader"
          value={values.confirmHeader ? ['header'] : []}
          onChange={(chosen) => draft.change({ confirmHeader: chosen.length > 0 })}
          options={[{ value: 'header', title: 'May ask for more by the header X-Keyrail-Confirm' }]}
          fix={saving.getFix('confirmHeader')}
        />
      </SaveForm>
    </Card>
  )
}
