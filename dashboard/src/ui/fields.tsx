/** Form fields with label, description and error. */
import { ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import {
  Checkbox as AriaCheckbox,
  SearchField as AriaSearchField,
  Select as AriaSelect,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
  TextArea,
} from "react-aria-components";

interface Described {
  label: string;
  description?: ReactNode;
  error?: string | undefined;
}

type TextFieldProps = Omit<AriaTextFieldProps, "className" | "children"> &
  Described & { placeholder?: string; rows?: number };

/** A text field; with `rows`, of several lines. */
export function TextField({ label, description, error, placeholder, rows, ...props }: TextFieldProps) {
  return (
    <AriaTextField {...props} isInvalid={error !== undefined || props.isInvalid === true} className="field">
      <Label>{label}</Label>
      {rows ? (
        <TextArea className="input" rows={rows} placeholder={placeholder ?? ""} />
      ) : (
        <Input className="input" placeholder={placeholder ?? ""} />
      )}
      {description && <Text slot="description">{description}</Text>}
      <FieldError>{error}</FieldError>
    </AriaTextField>
  );
}

interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
}

export function SearchField({ label, value, onChange, placeholder }: SearchFieldProps) {
  return (
    <AriaSearchField aria-label={label} value={value} onChange={onChange} className="field">
      <Input className="input" placeholder={placeholder ?? label} />
    </AriaSearchField>
  );
}

export interface Choice {
  id: string;
  label: string;
  description?: string;
}

interface SelectProps extends Described {
  choices: Choice[];
  value: string | null;
  onChange: (id: string) => void;
  isLabelHidden?: boolean;
}

export function Select({ label, description, error, choices, value, onChange, isLabelHidden }: SelectProps) {
  return (
    <AriaSelect
      className="field"
      value={value}
      onChange={(key) => key !== null && onChange(String(key))}
      isInvalid={error !== undefined}
      {...(isLabelHidden ? { "aria-label": label } : {})}
    >
      {!isLabelHidden && <Label>{label}</Label>}
      <Button className="input select">
        <SelectValue>{() => choices.find((choice) => choice.id === value)?.label ?? "Choose"}</SelectValue>
        <ChevronDown size={16} aria-hidden />
      </Button>
      {description && <Text slot="description">{description}</Text>}
      <FieldError>{error}</FieldError>
      <Popover className="popover">
        <ListBox className="menu" items={choices}>
          {(choice) => (
            <ListBoxItem id={choice.id} textValue={choice.label} className="menu-item">
              <span>
                {choice.label}
                {choice.description && <small className="muted">{choice.description}</small>}
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface CheckboxProps {
  label: string;
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
}

export function Checkbox({ label, ...props }: CheckboxProps) {
  return (
    <AriaCheckbox {...props} className="checkbox">
      <span className="checkbox-box" aria-hidden />
      {label}
    </AriaCheckbox>
  );
}
