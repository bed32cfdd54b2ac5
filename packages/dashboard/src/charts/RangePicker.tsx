import type { MetricsRange } from '@keyrail/gateway'
import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '../parts/Button.tsx'
import { Segments } from '../parts/Segments.tsx'
import { TextField } from '../parts/TextField.tsx'
import { useMetricsSearch } from './useMetricsSearch.ts'

const ranges: readonly { readonly value: MetricsRange; readonly title: string; readonly words: string }[] = [
  { value: 'hour', title: 'Hour', words: 'last hour' },
  { value: 'day', title: 'Day', words: 'last 24 hours' },
  { value: 'week', title: 'Week', words: 'last 7 days' },
  { value: 'month', title: 'Month', words: 'last 30 days' },
  { value: 'quarter', title: '90 days', words: 'last 90 days' },
]

/** Describes a time range within a sentence. */
export const getRangeWords = (range: MetricsRange | 'custom'): string =>
  ranges.find(({ value }) => value === range)?.words ?? 'chosen range'

/** Chooses the time range: one that ends now, or a custom one. */
export function RangePicker() {
  const { search, change } = useMetricsSearch()
  const [isOpen, setOpen] = useState(false)
  const isCustom = search.from !== undefined || isOpen
  return (
    <div className="stack">
      <Segments
        legend="Time"
        name="range"
        value={isCustom ? 'custom' : (search.range ?? 'hour')}
        onChange={(range) => {
          setOpen(range === 'custom')
          if (range !== 'custom') change({ range, from: undefined, to: undefined })
        }}
        options={[...ranges, { value: 'custom', title: 'Custom' }]}
      />
      {isCustom && <CustomRange key={`${search.from} ${search.to}`} />}
    </div>
  )
}

/** Formats a time as the value of a date field, in the user's time zone. */
const toField = (time: number): string => {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

const hourMs = 3_600_000

function CustomRange() {
  const { search, change } = useMetricsSearch()
  const [from, setFrom] = useState(() => toField(search.from ? Date.parse(search.from) : Date.now() - hourMs))
  const [to, setTo] = useState(() => toField(search.to ? Date.parse(search.to) : Date.now()))
  const [fix, setFix] = useState<'from' | 'to'>()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const [start, end] = [Date.parse(from), Date.parse(to)]
    const wrong = !(start <= Date.now()) ? 'from' : end > start ? undefined : 'to'
    setFix(wrong)
    if (wrong !== undefined) return
    change({ range: undefined, from: new Date(start).toISOString(), to: new Date(end).toISOString() })
  }
  const fields = [
    { name: 'from', label: 'From', value: from, onChange: setFrom, mistake: 'Must be in the past' },
    { name: 'to', label: 'To', value: to, onChange: setTo, mistake: 'Must be after the start' },
  ] as const
  return (
    <form className="range-form" onSubmit={submit} noValidate>
      {fields.map(({ name, label, value, onChange, mistake }) => (
        <TextField
          key={name}
          label={label}
          name={name}
          type="datetime-local"
          value={value}
          onChange={onChange}
          fix={fix === name ? mistake : undefined}
        />
      ))}
      <Button type="submit">Show</Button>
    </form>
  )
}
