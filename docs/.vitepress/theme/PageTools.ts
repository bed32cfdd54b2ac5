import { onContentUpdated, useData } from 'vitepress'
import { computed, defineComponent, h, onMounted, ref } from 'vue'
import { applyChoices, choices, choose, findUrlProblem, libraries } from './choices.ts'

/** The line above a page: what the samples are for, and the page as Markdown. */
export const PageTools = defineComponent(() => {
  const { page, frontmatter } = useData()
  // The server knows no choices: they are shown once the page is in the browser.
  const isMounted = ref(false)
  const copied = ref('')
  const problem = computed(() => findUrlProblem(choices.url))
  const markdownPath = computed(() => `/${page.value.relativePath}`)

  onMounted(() => {
    isMounted.value = true
    applyChoices()
  })
  onContentUpdated(() => {
    copied.value = ''
    if (isMounted.value) applyChoices()
  })

  const copy = async (): Promise<void> => {
    try {
      const response = await fetch(markdownPath.value)
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      await navigator.clipboard.writeText(await response.text())
      copied.value = 'Copied'
    } catch {
      copied.value = 'Not copied: open it instead'
    }
  }

  const getValue = ({ target }: Event): string =>
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement ? target.value.trim() : ''

  const renderChoices = () =>
    h('div', { class: 'page-choices', role: 'group', 'aria-label': 'Samples' }, [
      h('label', [
        h('span', 'Samples for'),
        h(
          'select',
          {
            value: isMounted.value ? choices.library : '',
            onChange: (event: Event) => choose({ library: getValue(event) }),
          },
          [
            h('option', { value: '' }, 'any library'),
            ...Object.entries(libraries).map(([language, names]) =>
              h(
                'optgroup',
                { label: language },
                names.map((name) => h('option', { value: name }, name)),
              ),
            ),
          ],
        ),
      ]),
      h('label', [
        h('span', 'with your URL'),
        h('input', {
          type: 'url',
          placeholder: 'https://node.example/mainnet',
          spellcheck: false,
          autocomplete: 'off',
          value: isMounted.value ? choices.url : '',
          'aria-invalid': problem.value !== '',
          onChange: (event: Event) => choose({ url: getValue(event) }),
        }),
      ]),
      h('span', { class: 'page-note', role: 'status' }, isMounted.value ? problem.value : ''),
    ])

  return () =>
    h('section', { class: 'page-tools', 'aria-label': 'Samples and Markdown' }, [
      ...(frontmatter.value.hasChoices ? [renderChoices()] : []),
      h('div', { class: 'page-copy' }, [
        h('span', { class: 'page-note', role: 'status' }, copied.value),
        h('button', { type: 'button', onClick: copy }, 'Copy page'),
        // The target keeps the router from opening it as a page.
        h('a', { href: markdownPath.value, target: '_self' }, 'Markdown'),
      ]),
    ])
})
