import { useEffect, useId, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { describeField, FieldFix, FieldHint } from './fieldNotes.tsx'

/** An option. */
export interface SearchOption {
  readonly value: string
  readonly title: string
  /** A description in one line. */
  readonly what?: ReactNode
}

/**
 * A field that searches a list and chooses one entry, or several: a combobox with a listbox, as the WAI-ARIA Authoring Practices describe it. The arrow
 * keys move, Enter chooses, Escape closes the list and restores the field.
 */
export function SearchSelect(props: {
  readonly label: string
  /** Whether only screen readers get the label. @default false */
  readonly hidesLabel?: boolean
  readonly name: string
  /** The chosen entry; `undefined` if there is none. */
  readonly chosen?: SearchOption | undefined
  /** Makes it a field that chooses several: which entries are chosen. `onChoose` then adds or removes one, and so does Space after an arrow key. */
  readonly isChosen?: (value: string) => boolean
  /** Finds the entries for a text, the best matches first. */
  readonly search: (text: string) => readonly SearchOption[]
  readonly onChoose: (value: string) => void
  readonly placeholder?: string
  /** What to show if nothing is found. */
  readonly nothing: string
  readonly hint?: ReactNode
  readonly fix?: string | undefined
  /** Whether the list is open as long as the field is shown, below it. @default false */
  readonly isAlwaysOpen?: boolean
}) {
  const { chosen, isChosen, search, isAlwaysOpen = false } = props
  const id = useId()
  // `undefined` while nobody types: the field shows what is chosen.
  const [typed, setTyped] = useState<string>()
  const [isOpen, setOpen] = useState(isAlwaysOpen)
  const [active, setActive] = useState(-1)
  // Before an arrow key, Space is a part of the text.
  const [hasMoved, setMoved] = useState(false)
  const options = useMemo(() => (isOpen ? search(typed ?? '') : []), [search, typed, isOpen])
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active, options])

  const open = (text?: string): void => {
    setTyped(text)
    setOpen(true)
    setMoved(false)
    setActive(text === undefined || text.trim() === '' ? -1 : 0)
  }
  const close = (): void => {
    setTyped(undefined)
    setOpen(isAlwaysOpen)
    setActive(-1)
  }
  const choose = (option: SearchOption | undefined): void => {
    // Of a list without a search text, several entries can be chosen in turn.
    if (isChosen === undefined || typed !== undefined) close()
    if (option) props.onChoose(option.value)
  }
  const move = (step: 1 | -1): void => {
    setMoved(true)
    if (!isOpen) open()
    else if (options.length > 0)
      setActive((at) => (at === -1 && step === -1 ? options.length - 1 : (at + step + options.length) % options.length))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Escape' && isOpen && !isAlwaysOpen) close()
    else if (isOpen && options[active] && (event.key === 'Enter' || (isChosen && hasMoved && event.key === ' ')))
      choose(options[active])
    else return
    // Otherwise Enter submits the form, Escape closes the dialog around it, and the arrows move the cursor.
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div className="field">
      <div className={props.hidesLabel ? 'hidden' : 'field-label'}>
        <label htmlFor={id}>{props.label}</label>
      </div>
      <div className="search-box">
        <input
          id={id}
          name={props.name}
          className="input"
          role="combobox"
          autoComplete="off"
          spellCheck={false}
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-activedescendant={options[active] ? `${id}-${active}` : undefined}
          aria-invalid={props.fix ? true : undefined}
          aria-describedby={describeField(id, props)}
          placeholder={chosen?.title ?? props.placeholder}
          value={typed ?? (isOpen ? '' : (chosen?.title ?? ''))}
          onChange={({ target }) => open(target.value)}
          onClick={() => {
            if (!isOpen) open()
          }}
          onFocus={({ target }) => target.select()}
          onKeyDown={onKeyDown}
          onBlur={isAlwaysOpen ? undefined : close}
        />
        {/* The field keeps the focus while the mouse chooses. */}
        <div
          className={isAlwaysOpen ? 'search-popup in-place' : 'search-popup'}
          hidden={!isOpen}
          onMouseDown={(event) => event.preventDefault()}
        >
          <ul
            id={`${id}-list`}
            role="listbox"
            aria-label="Results"
            aria-multiselectable={isChosen && true}
            ref={list}
            className="search-list"
          >
            {options.map((option, at) => (
              <li
                key={option.value}
                id={`${id}-${at}`}
                role="option"
                aria-selected={isChosen ? isChosen(option.value) : option.value === chosen?.value}
                className={at === active ? 'active' : undefined}
                onClick={() => choose(option)}
              >
                {option.title}
                {option.what && <span className="hint"> {option.what}</span>}
              </li>
            ))}
          </ul>
          {options.length === 0 && <p className="hint">{props.nothing}</p>}
        </div>
      </div>
      <p className="hidden" role="status">
        {isOpen && (options.length === 0 ? props.nothing : `${options.length} found`)}
      </p>
      <FieldFix id={id} fix={props.fix} />
      <FieldHint id={id} hint={props.hint} />
    </div>
  )
}
