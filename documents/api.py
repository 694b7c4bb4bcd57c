"""HTTP for documents, their versions and grants: validate, call, respond."""

import re
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from drf_spectacular.utils import OpenApiRequest, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from tenants import selectors as people
from tenants.api import Input
from tenants.camel_case import CamelCaseJSONParser, snake
from tenants.models import TokenUse

from . import services
from .access import get_manageable_document
from .ingestion.extraction.sniff import Kind
from .models import Document, DocumentVersion, LifeCycle
from .selectors import grants_of, list_readable_documents

PAGE_SIZE = 50
A_FILE = {"file": {"contentType": ", ".join(Kind)}}


class VersionOutput(serializers.Serializer):
    document_id = serializers.UUIDField()
    version = serializers.IntegerField()
    state = serializers.CharField(help_text="received, accepted, searchable, failed or duplicate")
    reason = serializers.CharField(allow_null=True)


class DocumentOutput(serializers.Serializer):
    document_id = serializers.UUIDField()
    title = serializers.CharField()
    reference = serializers.CharField(allow_blank=True)
    department = serializers.CharField()
    life_cycle = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    effective_date = serializers.DateField(allow_null=True)
    withdrawn_date = serializers.DateField(allow_null=True)


class GrantOutput(serializers.Serializer):
    to = serializers.CharField(help_text="group:NAME or user:E-MAIL")


class CalendarDate(serializers.DateField):
    """2024-03-01 and no other way to write it, such as 20240301 or 2024-W09-5."""

    def to_internal_value(self, value):
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", str(value), re.ASCII):
            self.fail("invalid", format="YYYY-MM-DD")
        return super().to_internal_value(value)


class UploadInput(serializers.Serializer):
    file = serializers.FileField(allow_empty_file=True)
    title = serializers.CharField(max_length=300)
    department = serializers.CharField(max_length=120)
    reference = serializers.CharField(max_length=60, required=False, default="")
    life_cycle = serializers.ChoiceField(
        choices=[LifeCycle.VETTED, LifeCycle.DRAFT, LifeCycle.UNKNOWN_PROVENANCE],
        required=False,
        default=LifeCycle.DRAFT,
    )
    effective_date = CalendarDate(required=False)
    grants = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, help_text="group:NAME …"
    )


class VersionInput(serializers.Serializer):
    file = serializers.FileField(allow_empty_file=True)
    effective_date = CalendarDate(required=False)


class GrantInput(Input):
    to = serializers.CharField(max_length=300)


class PageQuery(serializers.Serializer):
    page = serializers.IntegerField(required=False, default=1, min_value=1, max_value=10_000)


class DocumentsView(APIView):
    token_uses = {"GET": TokenUse.READ, "POST": TokenUse.DOCUMENTS}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="listDocuments",
        parameters=[PageQuery],
        responses=inline_serializer(
            "DocumentList",
            {
                "documents": DocumentOutput(many=True),
                "next_page": serializers.IntegerField(allow_null=True),
            },
        ),
    )
    def get(self, request) -> Response:
        """The documents the caller may read, by title, 50 a page (`?page=2`)."""
        wanted = PageQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        page = wanted.validated_data["page"]
        documents = list(
            list_readable_documents(user=request.user)[(page - 1) * PAGE_SIZE :][: PAGE_SIZE + 1]
        )
        more = len(documents) > PAGE_SIZE
        return Response(
            {
                "documents": [_document(document) for document in documents[:PAGE_SIZE]],
                "next_page": page + 1 if more else None,
            }
        )

    @extend_schema(
        operation_id="uploadDocument",
        request={"multipart/form-data": OpenApiRequest(UploadInput, encoding=A_FILE)},
        responses={201: VersionOutput},
    )
    def post(self, request) -> Response:
        """A new document with its first version; for administrators of its department."""
        data = UploadInput(data=_snake(request.data))
        data.is_valid(raise_exception=True)
        fields = dict(data.validated_data)
        file, grants = fields.pop("file"), fields.pop("grants")
        department = _department(request.user, fields.pop("department"))
        _, submission = services.create_document(
            actor=request.user,
            upload=_upload(file),
            department=department,
            subjects=[_subject(to) for to in grants],
            owner=request.user,
            **fields,
        )
        return Response(version_state(submission.version), status=201)


class DocumentView(APIView):
    token_uses = {"DELETE": TokenUse.DOCUMENTS}

    @extend_schema(operation_id="deleteDocument", responses={204: None})
    def delete(self, request, document_id: UUID) -> Response:
        """Delete a document one administers; it can be cited by nobody from now on."""
        document = get_manageable_document(user=request.user, document_id=document_id)
        services.delete_document(actor=request.user, document=document)
        return Response(status=204)


class VersionsView(APIView):
    token_uses = {"POST": TokenUse.DOCUMENTS}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="uploadVersion",
        request={"multipart/form-data": OpenApiRequest(VersionInput, encoding=A_FILE)},
        responses={200: VersionOutput, 201: VersionOutput},
    )
    def post(self, request, document_id: UUID) -> Response:
        """A new version. The same bytes as the latest one change nothing: state `duplicate`."""
        document = get_manageable_document(user=request.user, document_id=document_id)
        data = VersionInput(data=_snake(request.data))
        data.is_valid(raise_exception=True)
        submission = services.submit_version(
            actor=request.user,
            document=document,
            upload=_upload(data.validated_data["file"]),
            effective_date=data.validated_data.get("effective_date"),
        )
        state = version_state(submission.version)
        if not submission.is_new:
            state["state"] = "duplicate"
        return Response(state, status=201 if submission.is_new else 200)


class GrantsView(APIView):
    token_uses = dict.fromkeys(("GET", "POST", "DELETE"), TokenUse.DOCUMENTS)
    parser_classes = [CamelCaseJSONParser]

    @extend_schema(operation_id="listGrants", responses=GrantOutput(many=True))
    def get(self, request, document_id: UUID) -> Response:
        """Who may read a document one administers."""
        document = get_manageable_document(user=request.user, document_id=document_id)
        return Response([{"to": grant.subject} for grant in grants_of(document)])

    @extend_schema(
        operation_id="grantAccess",
        request=GrantInput,
        responses={200: GrantOutput, 201: GrantOutput},
    )
    def post(self, request, document_id: UUID) -> Response:
        """Let a person or a group read it."""
        document, subject, to = self._target(request, document_id)
        changed = services.grant_access(actor=request.user, document=document, subject=subject)
        return Response({"to": to}, status=201 if changed else 200)

    @extend_schema(
        operation_id="revokeAccess", request=None, parameters=[GrantInput], responses={204: None}
    )
    def delete(self, request, document_id: UUID) -> Response:
        """Take it back; effective at once. `to` may also come in a JSON body, as for granting."""
        document, subject, _ = self._target(request, document_id)
        services.revoke_access(actor=request.user, document=document, subject=subject)
        return Response(status=204)

    def _target(self, request, document_id: UUID):
        document = get_manageable_document(user=request.user, document_id=document_id)
        in_query = request.method == "DELETE" and "to" in request.query_params
        data = GrantInput(data=request.query_params.dict() if in_query else request.data)
        data.is_valid(raise_exception=True)
        to = data.validated_data["to"]
        return document, _subject(to), to


def version_state(version: DocumentVersion) -> dict[str, object]:
    return {
        "document_id": version.document_id,
        "version": version.number,
        "state": version.status,
        "reason": version.failure_reason or None,
    }


def _document(document: Document) -> dict[str, object]:
    return {
        "document_id": document.id,
        "title": document.title,
        "reference": document.reference,
        "department": document.department.name,
        "life_cycle": document.life_cycle,
        "version": document.current_version.number if document.current_version else None,
        "effective_date": document.effective_date,
        "withdrawn_date": document.withdrawn_date,
    }


def _upload(file) -> services.Upload:
    # One byte more than allowed is enough to be refused for its size.
    return services.Upload(data=file.read(settings.MAX_UPLOAD_BYTES + 1), name=file.name)


def _snake(data) -> dict[str, object]:
    """Multipart fields keep their own names: camelCase in, snake_case on; `grants` may repeat."""
    return {
        snake(name): data.getlist(name) if name == "grants" else data.get(name) for name in data
    }


def _department(user, name: str):
    department = people.departments_administered_by(user).filter(name__iexact=name.strip()).first()
    if department is None:
        raise ValidationError(f"You do not administer a department '{name}'.")
    return department


def _subject(to: str):
    try:
        return people.subject_by_name(to)
    except people.NotFound as error:
        raise ValidationError(str(error)) from None
