/** A field for a secret, which a button shows. */
import { Eye, EyeOff } from "lucide-react";
import { type ReactNode, useState } from "react";
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
  ToggleButton,
} from "react-aria-components";

type PasswordFieldProps = Omit<AriaTextFieldProps, "className" | "children" | "type"> & {
  label: string;
  description?: ReactNode;
  error?: string | undefined;
  /** Content that the button shows, with a small letter. */
  shows?: string;
};

export function PasswordField({
  label,
  description,
  error,
  shows = "password",
  ...props
}: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  return (
    <AriaTextField
      {...props}
      type={isShown ? "text" : "password"}
      isInvalid={error !== undefined}
      className="field"
    >
      <Label>{label}</Label>
      <span className="password-input">
        <Input className="input" spellCheck={false} autoCapitalize="none" />
        <ToggleButton
          className="icon-button"
          aria-label={`Show the ${shows}`}
          isSelected={isShown}
          onChange={setShown}
        >
          {isShown ? <EyeOff size={16} aria-hidden /> : <Eye size={16} aria-hidden />}
        </ToggleButton>
      </span>
      {description && <Text slot="description">{description}</Text>}
      <FieldError>{error}</FieldError>
    </AriaTextField>
  );
}
