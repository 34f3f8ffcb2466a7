/** A labelled drop-down in a form: `options` are pairs of a value and its text. */
interface Properties {
  id: string;
  label: string;
  options: [value: string, text: string][];
  value: string;
  choose(value: string): void;
}

export const Select = ({ id, label, options, value, choose }: Properties) => (
  <div class="pair">
    <label for={id}>{label}</label>
    <select id={id} name={id} value={value} onInput={({ currentTarget }) => choose(currentTarget.value)}>
      {options.map(([value, text]) => <option value={value}>{text}</option>)}
    </select>
  </div>
);
