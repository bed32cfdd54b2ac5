import { useQueryClient } from '@tanstack/react-query'
import type { AlertRulesView, AlertsView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { alertsQuery } from '../../control/queries.ts'
import { useDraft } from '../../control/useDraft.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Card } from '../../parts/Card.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { readRules, ruleFields, ruleNames } from './readRules.ts'

const toText = (value: number | null): string => (value === null ? '' : String(value))

/** When failed or slow calls cause an alert. */
export function AlertRules({ rules }: { readonly rules: AlertRulesView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const draft = useDraft('alerts/rules', {
    errorPercent: toText(rules.errorPercent),
    latencyMs: toText(rules.latencyMs),
    minutes: toText(rules.minutes),
    minCalls: toText(rules.minCalls),
  })
  const { values, change, clear } = draft
  const saving = useSubmit<AlertsView>({
    check: () => readRules(values).problems,
    send: () => callApi('PUT /api/alerts/rules', { body: readRules(values).rules }),
    done: (saved) => {
      queries.setQueryData(alertsQuery.queryKey, saved)
      clear()
      say('Saved')
    },
    fields: ruleNames,
  })
  return (
    <Card
      title="Failed and slow calls"
      help="service/alerts#failed-and-slow-calls"
      lead="Sent when it starts and when it is over, for each app, and for all API keys together. Leave a field empty for no such alert."
    >
      <SaveForm of={saving} draft={draft} action="Save rules">
        <div className="selects">
          {ruleNames.map((name) => (
            <TextField
              key={name}
              label={ruleFields[name].label}
              name={name}
              optional={ruleFields[name].isOptional}
              hint={ruleFields[name].hint}
              value={values[name]}
              onChange={(value) => change({ [name]: value })}
              placeholder={ruleFields[name].isOptional ? 'Off' : ''}
              fix={saving.getFix(name)}
            />
          ))}
        </div>
      </SaveForm>
    </Card>
  )
}
