import type { AlertRulesView } from '@keyrail/gateway'

/** The fields of the rules, in the order to show them in. */
export const ruleNames = ['errorPercent', 'latencyMs', 'minutes', 'minCalls'] as const

type RuleName = (typeof ruleNames)[number]

/** Each field, and the values it can have. */
export const ruleFields: Readonly<
  Record<
    RuleName,
    {
      readonly label: string
      readonly hint: string
      readonly min: number
      readonly max: number
      readonly isOptional: boolean
    }
  >
> = {
  errorPercent: {
    label: 'Failed calls (%)',
    hint: 'Failed or rejected calls, such as 5',
    min: 1,
    max: 100,
    isOptional: true,
  },
  latencyMs: {
    label: 'Slow calls (ms)',
    hint: 'If 5% of the calls take longer, such as 1000',
    min: 1,
    max: 600_000,
    isOptional: true,
  },
  minutes: {
    label: 'Window (minutes)',
    hint: 'The rules look at these last minutes',
    min: 5,
    max: 60,
    isOptional: false,
  },
  minCalls: {
    label: 'Minimum calls',
    hint: 'Fewer calls cause no alert',
    min: 10,
    max: 1_000_000,
    isOptional: false,
  },
}

/** Reads what was typed. The rules are complete if there are no problems. */
export function readRules(values: Readonly<Record<RuleName, string>>): {
  readonly rules: AlertRulesView
  readonly problems: Readonly<Record<RuleName, string | undefined>>
} {
  const find = (name: RuleName): string | undefined => {
    const { min, max, isOptional } = ruleFields[name]
    const text = values[name].trim()
    if (text === '') return isOptional ? undefined : 'Enter a number'
    return /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? undefined
      : `Must be a whole number from ${min} to ${max}`
  }
  const readOptional = (name: RuleName): number | null => (values[name].trim() === '' ? null : Number(values[name]))
  return {
    rules: {
      errorPercent: readOptional('errorPercent'),
      latencyMs: readOptional('latencyMs'),
      minutes: Number(values.minutes),
      minCalls: Number(values.minCalls),
    },
    problems: {
      errorPercent: find('errorPercent'),
      latencyMs: find('latencyMs'),
      minutes: find('minutes'),
      minCalls: find('minCalls'),
    },
  }
}
